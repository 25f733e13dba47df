"""Inner loops of spanning trees and of packing them."""
