"""Personal data: finding it in any text, and telling a leak from what may be said."""
