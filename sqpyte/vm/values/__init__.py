"""Values, and where they are: in registers, in records, in raw memory."""
