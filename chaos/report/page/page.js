'use strict';
// The page says all it has to say without this: it opens what a link leads to, and copies commands.

function reveal() {
  let id;
  try { id = decodeURIComponent(location.hash.slice(1)); } catch { return; }
  const target = id && document.getElementById(id);
  if (!target) return;
  for (let e = target; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;
  target.scrollIntoView();
}
addEventListener('hashchange', reveal);
reveal();

document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (link && link.hash === location.hash) reveal(); // it may have been closed since
});

for (const command of document.querySelectorAll('.replay')) {
  if (!navigator.clipboard) break;
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'copy';
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(command.querySelector('code').textContent);
      button.textContent = 'copied';
    } catch {
      button.textContent = 'select and copy it';
    }
  });
  command.append(' ', button);
}
