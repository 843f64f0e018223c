// Calls of the server. A new call of a name aborts the call of that name that is under way.

const running = new Map();

// call sends a request and returns its answer, or undefined if a newer call has replaced it.
export async function call(name, path, body) {
  abort(name);
  const controller = new AbortController();
  running.set(name, controller);
  try {
    const response = await fetch(path, {
      signal: controller.signal,
      ...(body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (running.get(name) !== controller) return undefined;
    let value;
    try {
      value = JSON.parse(text);
    } catch {
      throw new Error(`The server answered with status ${response.status} and no JSON.`);
    }
    if (!response.ok) throw new Error(value.error ?? `The server answered with status ${response.status}.`);
    return value;
  } catch (err) {
    if (running.get(name) !== controller) return undefined;
    throw err instanceof TypeError ? new Error('The playground’s server does not answer. Is it still running?') : err;
  } finally {
    if (running.get(name) === controller) running.delete(name);
  }
}

// abort ends the call of a name.
export function abort(name) {
  running.get(name)?.abort();
  running.delete(name);
}
