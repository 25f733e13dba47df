"""Content-based publish/subscribe of minimum cost (paper 001): plans, costs, brokers that migrate users."""
