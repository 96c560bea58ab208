// The page works without this. It adds a button that copies, and shows in the contents where the reader is.

const contents = document.querySelector('#contents');
contents.addEventListener('click', ({ target }) => {
  if (target.closest('a') && contents.matches(':popover-open')) contents.hidePopover();
});

for (const panel of document.querySelectorAll('.panel')) {
  if (!navigator.clipboard) break; // only where the browser trusts the address: https or localhost
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', () => void copy(panel.querySelector('pre').textContent, button));
  panel.querySelector('figcaption').append(button);
}

const links = new Map([...contents.querySelectorAll('li a')].map((link) => [link.hash.slice(1), link]));
const seen = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      const link = links.get(target.id);
      for (const other of contents.querySelectorAll('[aria-current]')) other.removeAttribute('aria-current');
      link.setAttribute('aria-current', 'true');
      if (!contents.matches(':popover-open')) keepInView(link);
    }
  },
  { rootMargin: '-15% 0px -75% 0px' },
);
for (const id of links.keys()) seen.observe(document.getElementById(id));

async function copy(text, button) {
  await navigator.clipboard.writeText(text);
  button.textContent = 'Copied';
  setTimeout(() => (button.textContent = 'Copy'), 1500);
}

/** Scrolls the contents alone, never the page. */
function keepInView(link) {
  const { top, bottom } = link.getBoundingClientRect();
  const frame = contents.getBoundingClientRect();
  if (top < frame.top || bottom > frame.bottom) contents.scrollTop += top - frame.top - frame.height / 2;
}
