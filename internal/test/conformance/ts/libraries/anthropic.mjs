// The Messages SDK: a loop over plain calls, and its own tool runner, which uses a
// thread by itself.
import { joined, maxRounds, objectSchema, runTool, schemaOf, toolbox } from './tools.mjs';

const open = (Anthropic, call) => new Anthropic({ baseURL: call.base_url, apiKey: call.key, maxRetries: 0 });

function paramsOf(call) {
  const content = [{ type: 'text', text: call.prompt }];
  if (call.image) content.unshift({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: call.image } });
  return {
    model: 'claude-sonnet-4-5',
    max_tokens: call.max_tokens || 4096,
    messages: [{ role: 'user', content }],
    ...(call.think && { thinking: { type: 'enabled', budget_tokens: 2048 } }),
  };
}

function fill(reply, message) {
  reply.text = joined(message.content, 'text', 'text');
  reply.thinking = joined(message.content, 'thinking', 'thinking');
  reply.input = message.usage.input_tokens;
  reply.output = message.usage.output_tokens;
}

const toolsOf = (call, of) => (call.tools ? toolbox : []).map(([name, property]) => ({
  name, description: 'Does it.', [of]: schemaOf(property),
}));

// objectParams asks for the object in the way of the SDK's year: as the input of a
// tool, in the beta, and as a format.
const objectParams = {
  'anthropic-0.39': { tools: [{ name: 'answer', input_schema: objectSchema }], tool_choice: { type: 'tool', name: 'answer' } },
  'anthropic-0.69': { betas: ['structured-outputs-2025-11-13'], output_format: { type: 'json_schema', schema: objectSchema } },
  'anthropic-1': { output_config: { format: { type: 'json_schema', schema: objectSchema } } },
};

async function object(client, call, reply) {
  const params = { ...paramsOf(call), ...objectParams[call.major] };
  const { messages } = params.betas ? client.beta : client;
  const message = call.stream ? await messages.stream(params).finalMessage() : await messages.create(params);
  fill(reply, message);
  const input = message.content.find((b) => b.type === 'tool_use')?.input;
  reply.object = input ?? JSON.parse(reply.text);
}

export default async function anthropic({ default: Anthropic }, call, reply) {
  const client = open(Anthropic, call);
  if (call.object) return object(client, call, reply);
  const params = paramsOf(call);
  if (call.tools) params.tools = toolsOf(call, 'input_schema');
  for (let round = 0; round < maxRounds; round++) {
    const message = call.stream ? await client.messages.stream(params).finalMessage() : await client.messages.create(params);
    fill(reply, message);
    const uses = message.content.filter((b) => b.type === 'tool_use');
    if (!uses.length) return;
    const results = uses.map((b) => ({ type: 'tool_result', tool_use_id: b.id, content: runTool(reply, b.name, b.input) }));
    params.messages.push({ role: 'assistant', content: message.content }, { role: 'user', content: results });
  }
  throw new Error('the loop does not end');
}

export async function runner({ default: Anthropic, betaTool }, call, reply) {
  const client = open(Anthropic, call);
  if (call.object) return object(client, call, reply);
  const tools = toolsOf(call, 'inputSchema').map((t) => betaTool({ ...t, run: (args) => runTool(reply, t.name, args) }));
  const loop = client.beta.messages.toolRunner({ ...paramsOf(call), stream: call.stream, tools });
  if (!call.stream) return fill(reply, await loop);
  let message;
  for await (const stream of loop) message = await stream.finalMessage();
  fill(reply, message);
}
