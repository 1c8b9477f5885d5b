"""What is shown of results, as plain values, and the renderers: HTML, terminal, Markdown, JUnit."""
