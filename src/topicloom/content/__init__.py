"""Content-based publish/subscribe of minimum cost (paper 001): plans, their cost, and brokers that migrate users."""
