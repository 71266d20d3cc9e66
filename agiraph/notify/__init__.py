"""The channels that carry notices to people: webhooks, mail, the desktop, programs."""
