// Light or dark: the system's wish until the reader chooses. Paper is light.
const darkWish = matchMedia("(prefers-color-scheme: dark)");
const themeButton = document.getElementById("theme");
const printed = matchMedia("print");
let chosenTheme = null;
let onPaper = false;

function theme() {
  if (onPaper) return "light";
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

// Whoever draws anew for paper listens for `paper`. A dialog says that it prints; a tool that shows the page as
// it would be printed, or makes a picture of that, changes the medium and says nothing else.
function setPaper(wanted) {
  if (wanted === onPaper) return;
  onPaper = wanted;
  showTheme();
  choose({ theme: theme(), paper: onPaper });
}
addEventListener("beforeprint", () => setPaper(true));
addEventListener("afterprint", () => setPaper(printed.matches));
printed.addEventListener("change", () => setPaper(printed.matches));

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
