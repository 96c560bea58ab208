const byId = (id) => document.getElementById(id);
const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

let state;

new EventSource('/_emulator/events').addEventListener('message', ({ data }) => {
  const isFirst = state === undefined;
  state = JSON.parse(data);
  byId('connection').textContent = '';
  if (isFirst) renderOnce();
  render();
});

async function act(action, input = {}) {
  const response = await fetch(`/_emulator/${action}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });
  const answer = await response.json();
  notify(answer.error ?? '');
  return response.ok ? answer : undefined;
}

let noticeTimer;
function notify(text) {
  clearTimeout(noticeTimer);
  byId('notice').textContent = text;
  noticeTimer = setTimeout(() => byId('notice').replaceChildren(), 5000);
}

const customerNumber = () => byId('customer-number').value.replace(/\D/g, '');

function sendAsCustomer(content) {
  if (!byId('customer').reportValidity()) return undefined;
  return act('customer_messages', { from: customerNumber(), name: byId('customer-name').value, ...content });
}

function renderOnce() {
  byId('webhook-url').value = state.webhookUrl ?? '';
  const options = state.errorCodes.map(({ code, title }) =>
    make('option', { value: code, textContent: `${code} ${title}` }),
  );
  byId('code').replaceChildren(...options);
  byId('code').value = '131026';
  const latest = state.customers.at(-1);
  if (latest) chooseCustomer(latest);
}

function chooseCustomer({ waId, name }) {
  byId('customer-number').value = waId;
  if (name) byId('customer-name').value = name;
}

function render() {
  byId('business-name').textContent = state.business.name;
  byId('business-number').textContent = `+${state.business.number}`;
  byId('statuses').value = state.behaviour.statuses;
  byId('customers').replaceChildren(
    ...state.customers.map(({ waId, name }) => make('option', { value: waId, textContent: name ?? '' })),
  );
  renderIfChanged('chat', chatOfCustomer(), bubble);
  renderIfChanged('templates', state.templates, templateRow);
  renderIfChanged('faults', state.faults, ({ on, times, fault }) =>
    make('li', { textContent: `${times} × ${on}: ${fault.kind} ${fault.failure?.code ?? ''}` }),
  );
  const current = state.customers.find(({ waId }) => waId === customerNumber());
  byId('close-window').disabled = !current?.windowOpen;
  byId('clear').hidden = state.faults.length === 0;
  renderIfChanged('log', state.webhookLog.toReversed(), logRow);
}

/** A list is only built anew when it has changed: what one has opened or focused stays. */
function renderIfChanged(id, items, row) {
  const list = byId(id);
  const signature = JSON.stringify(items);
  if (list.dataset.shown === signature) return;
  list.dataset.shown = signature;
  list.replaceChildren(...items.map(row));
  if (id === 'chat') list.scrollTop = list.scrollHeight;
}

function chatOfCustomer() {
  return state.messages.filter(({ customer }) => customer === customerNumber());
}

const ticks = { accepted: '🕓', sent: '✓', delivered: '✓✓', read: '✓✓', failed: '!' };

function bubble(message) {
  const { id, mine, at, status, error, type, text, link, file } = message;
  const item = make('li', { className: mine ? 'bubble mine' : 'bubble' });
  if (file) item.append(attachment(file));
  if (link)
    item.append(make('a', { href: link, textContent: link, target: '_blank', rel: 'noreferrer' }), '\n');
  item.append(text || (file || link ? '' : `(${type})`));
  if (error) item.append(make('div', { className: 'bad', textContent: error }));
  const foot = make('footer', {}, new Date(at).toLocaleTimeString([], { timeStyle: 'short' }));
  foot.append(make('span', { className: `ticks ${status}`, textContent: ticks[status], title: status }));
  if (!mine && !['read', 'failed'].includes(status)) {
    foot.append(
      button('Mark as read', () => act('read', { id })),
      button('Fail', () => act('fail', { id, code: Number(byId('code').value) })),
    );
  }
  item.append(foot);
  return item;
}

function button(label, handle) {
  const made = make('button', { type: 'button', textContent: label });
  made.addEventListener('click', handle);
  return made;
}

function attachment({ id, mime, name }) {
  const src = `/_emulator/media/${id}`;
  if (mime.startsWith('image/')) return make('img', { src, alt: name });
  if (mime.startsWith('video/')) return make('video', { src, controls: true });
  if (mime.startsWith('audio/')) return make('audio', { src, controls: true });
  return make('a', { href: src, download: name, textContent: `📄 ${name}\n` });
}

function templateRow({ name, language, status }) {
  const choices = ['APPROVED', 'PENDING', 'REJECTED', 'PAUSED', 'DISABLED'];
  const select = make('select', { ariaLabel: `Status of ${name} ${language}` });
  select.append(...choices.map((choice) => make('option', { textContent: choice })));
  select.value = status;
  select.addEventListener('change', () => act('template', { name, language, status: select.value }));
  return make('li', {}, make('span', { textContent: `${name} · ${language}` }), select);
}

function logRow({ body, attempts, state: outcome }) {
  const answers = attempts.map(({ status, error }) => status ?? error ?? '–').join(', ');
  const time = attempts[0] ? new Date(attempts[0].at).toLocaleTimeString() : '';
  const summary = make('summary', { textContent: `${time} ${describe(body)} → ${outcome} (${answers})` });
  if (outcome !== 'delivered' && outcome !== 'sending') summary.className = 'bad';
  return make('li', {}, make('details', {}, summary, make('pre', { textContent: pretty(body) })));
}

function describe(body) {
  const { statuses = [], messages = [] } = parsed(body)?.entry?.[0]?.changes?.[0]?.value ?? {};
  return [...statuses.map(({ status }) => status), ...messages.map(({ type }) => type)].join(', ') || 'raw';
}

function pretty(body) {
  const value = parsed(body);
  return value === undefined ? body : JSON.stringify(value, null, 2);
}

function parsed(body) {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function on(id, event, handle) {
  byId(id).addEventListener(event, (happened) => {
    if (event === 'submit') happened.preventDefault();
    Promise.resolve(handle(happened)).catch((error) => notify(String(error)));
  });
}

on('customer', 'submit', render);
on('customer-number', 'input', () => {
  const known = state?.customers.find(({ waId }) => waId === customerNumber());
  if (known) chooseCustomer(known);
  if (state) render();
});

on('composer', 'submit', () => {
  const text = byId('text').value;
  if (text.trim() === '') return undefined;
  byId('text').value = '';
  return sendAsCustomer({ text });
});

on('file', 'change', async ({ target }) => {
  const [file] = target.files;
  if (!file) return;
  const bytes = new Uint8Array(await file.arrayBuffer());
  target.value = '';
  const kind = ['image', 'video', 'audio'].find((one) => file.type.startsWith(`${one}/`)) ?? 'document';
  const caption = kind === 'audio' ? '' : byId('text').value;
  byId('text').value = '';
  await sendAsCustomer({
    [kind]: {
      base64: bytes.toBase64(),
      mime: file.type || 'application/octet-stream',
      filename: file.name,
      ...(caption && { caption }),
    },
  });
});

on('location', 'click', () =>
  sendAsCustomer({
    location: {
      latitude: 52.5163,
      longitude: 13.3777,
      name: 'Brandenburg Gate',
      address: 'Pariser Platz, Berlin',
    },
  }),
);

on('webhook', 'submit', () => act('webhook_url', { url: byId('webhook-url').value }));
on('handshake', 'click', async () => {
  if (!(await act('webhook_url', { url: byId('webhook-url').value }))) return;
  const answer = await act('handshake');
  if (answer) notify(answer.verified ? 'The handshake succeeded.' : 'The handshake failed.');
});
on('failure', 'submit', () =>
  act('fail_next', { code: Number(byId('code').value), times: Number(byId('times').value) }),
);
on('drop', 'click', () => act('drop_answer_next'));
on('delay', 'click', () => act('delay_next', { ms: 5000 }));
on('close-window', 'click', () => act('close_window', { customer: customerNumber() }));
on('clear', 'click', () => act('clear_faults'));
on('statuses', 'change', () => act('behaviour', { statuses: byId('statuses').value }));
