"""The public web: pages fetched from judged addresses, and searches."""
