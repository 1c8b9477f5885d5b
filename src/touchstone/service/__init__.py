"""The API under `/v1` and the pages: requests are translated into use cases."""
