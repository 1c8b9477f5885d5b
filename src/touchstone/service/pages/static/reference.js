/* The API's reference: Swagger UI over our own description, with the session's CSRF token on what it tries. */
"use strict";
addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("reference");
  SwaggerUIBundle({
    url: "/openapi.json",
    domNode: place,
    deepLinking: true,
    validatorUrl: null,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    requestInterceptor(request) {
      if (place.dataset.csrf) request.headers["X-CSRF-Token"] = place.dataset.csrf;
      return request;
    },
  });
});
// Its dark colours follow the page's theme.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const paint = () => root.classList.toggle("dark-mode", (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark");
  new MutationObserver(paint).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
  system.addEventListener("change", paint);
  paint();
})();
