// Light or dark: the system's wish until the reader chooses.
const darkWish = matchMedia("(prefers-color-scheme: dark)");
const themeButton = document.getElementById("theme");
let chosenTheme = null;

function theme() {
  return chosenTheme ?? (darkWish.matches ? "dark" : "light");
}
function showTheme() {
  document.documentElement.dataset.theme = theme();
  if (themeButton) themeButton.textContent = theme() === "dark" ? "Light" : "Dark";
}
function applyTheme() {
  showTheme();
  choose({ theme: theme() });
}
darkWish.addEventListener("change", applyTheme);
themeButton?.addEventListener("click", () => {
  chosenTheme = theme() === "dark" ? "light" : "dark";
  applyTheme();
});
showTheme();

// The contents at the left show where the reader is.
function watchSections() {
  const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        for (const link of links.values()) link.removeAttribute("aria-current");
        links.get(entry.target.id)?.setAttribute("aria-current", "true");
      }
    },
    { rootMargin: "-15% 0px -75% 0px" },
  );
  for (const section of document.querySelectorAll("main > section")) seen.observe(section);
}
