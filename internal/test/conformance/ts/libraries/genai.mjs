// Google's SDK and its predecessor, each with the loop of a chat.
import { maxRounds, objectSchema, runTool, toolbox } from './tools.mjs';

// Clients that know no signatures are of a time when no model wanted them.
const modelOf = (call) => (call.major === 'genai-0.15' ? 'gemini-2.5-pro' : 'gemini-3-pro-preview');

// upper returns a JSON schema with the type names of the vendor's schemas.
function upper({ additionalProperties, type, properties, items, ...rest }) {
  const out = { ...rest, type: type.toUpperCase() };
  if (properties) out.properties = Object.fromEntries(Object.entries(properties).map(([k, v]) => [k, upper(v)]));
  if (items) out.items = upper(items);
  return out;
}

function configOf(call) {
  const object = call.object && { responseMimeType: 'application/json', responseSchema: upper(objectSchema) };
  const thinkingConfig = call.level ? { includeThoughts: true, thinkingLevel: 'HIGH' } : call.think && { includeThoughts: true, thinkingBudget: 2048 };
  return { ...(call.max_tokens && { maxOutputTokens: call.max_tokens }), ...object, ...(thinkingConfig && { thinkingConfig }) };
}

const toolsOf = (call) => call.tools && [{
  functionDeclarations: toolbox.map(([name, property]) => ({
    name, description: 'Does it.', parameters: { type: 'OBJECT', properties: { [property]: { type: 'STRING' } }, required: [property] },
  })),
}];

// loop sends the prompt, then the results of the calls of each response, until one
// has none. send returns the responses of a turn: one, or those of a stream.
async function loop(call, reply, send) {
  let parts = [{ text: call.prompt }];
  if (call.image) parts.unshift({ inlineData: { mimeType: 'image/png', data: call.image } });
  for (let round = 0; round < maxRounds; round++) {
    reply.text = reply.thinking = '';
    const calls = [];
    for await (const r of await send(parts)) {
      reply.text += r.text;
      reply.thinking += (r.parts ?? []).filter((p) => p.thought).map((p) => p.text ?? '').join('');
      calls.push(...(r.calls ?? []));
      reply.input = r.usage?.promptTokenCount ?? reply.input;
      reply.output = r.usage?.candidatesTokenCount ?? reply.output;
    }
    if (!calls.length) {
      if (call.object) reply.object = JSON.parse(reply.text);
      return;
    }
    parts = calls.map((c) => ({
      functionResponse: { ...(c.id && { id: c.id }), name: c.name, response: { output: runTool(reply, c.name, c.args) } },
    }));
  }
  throw new Error('the loop does not end');
}

export default async function genai({ GoogleGenAI }, call, reply) {
  const client = new GoogleGenAI({ apiKey: call.key, httpOptions: { baseUrl: call.base_url } });
  const chat = client.chats.create({ model: modelOf(call), config: { ...configOf(call), ...(call.tools && { tools: toolsOf(call) }) } });
  const view = (r) => ({ text: r.text ?? '', parts: r.candidates?.[0]?.content?.parts, calls: r.functionCalls, usage: r.usageMetadata });
  await loop(call, reply, async function* (message) {
    if (!call.stream) yield view(await chat.sendMessage({ message }));
    else for await (const r of await chat.sendMessageStream({ message })) yield view(r);
  });
}

export async function generativeAI({ GoogleGenerativeAI }, call, reply) {
  const client = new GoogleGenerativeAI(call.key);
  const params = { model: modelOf(call), generationConfig: configOf(call), ...(call.tools && { tools: toolsOf(call) }) };
  const chat = client.getGenerativeModel(params, { baseUrl: call.base_url }).startChat();
  const view = (r) => ({ text: r.text(), calls: r.functionCalls(), usage: r.usageMetadata });
  await loop(call, reply, async function* (message) {
    if (!call.stream) return yield view((await chat.sendMessage(message)).response);
    const { stream, response } = await chat.sendMessageStream(message);
    response.catch(() => {}); // the loop below has the error
    for await (const r of stream) yield view(r);
    await response;
  });
}
