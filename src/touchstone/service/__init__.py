"""The service: HTTP requests -> use cases of `app`, as JSON under /v1 and as pages."""
