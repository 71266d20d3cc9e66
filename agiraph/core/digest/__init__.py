"""What can be said about a text by counting alone: values in, values out."""
