"""What people write to an agent, and what it asks of them."""
