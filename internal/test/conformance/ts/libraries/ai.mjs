// The AI SDK. Without max_tokens it sends the limit that it lists for the model.
import { maxRounds, objectZod, runTool, toolbox } from './tools.mjs';

const models = {
  messages: (sdk, call) => sdk.createAnthropic({ baseURL: `${call.base_url}/v1`, apiKey: call.key })('claude-opus-4-8'),
  google: (sdk, call) => sdk.createGoogleGenerativeAI({ baseURL: `${call.base_url}/v1beta`, apiKey: call.key })(call.major === 'ai-4' ? 'gemini-2.5-pro' : 'gemini-3-pro-preview'),
  chat: (sdk, call) => openAI(sdk, call).chat('gpt-5'),
  compatible: (sdk, call) => sdk.createOpenAICompatible({
    name: 'gateway', baseURL: `${call.base_url}/v1`, apiKey: call.key, includeUsage: true, supportsStructuredOutputs: true,
  })('some-model'),
  responses: (sdk, call) => openAI(sdk, call)('gpt-5.6'),
  stored: (sdk, call) => openAI(sdk, call)('some-model'), // for other names, texts are sent by reference
};

// Version 4 asks for the usage of a stream only if compatibility is strict.
const openAI = (sdk, call) => sdk.createOpenAI({ baseURL: `${call.base_url}/v1`, apiKey: call.key, compatibility: 'strict' });

const thinking = {
  messages: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2048 } } },
  google: { google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 } } },
  chat: { openai: { reasoningEffort: 'high' } },
  compatible: { gateway: { reasoningEffort: 'high' } },
  responses: { openai: { reasoningEffort: 'high', reasoningSummary: 'auto', store: false } },
  stored: { openai: { reasoningEffort: 'high', reasoningSummary: 'auto', forceReasoning: true } },
};

const plain = { responses: { openai: { store: false } } };

const level = {
  messages: { anthropic: { thinking: { type: 'adaptive' }, effort: 'high' } },
  google: { google: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'high' } } },
};

// paramsOf returns the parameters of all calls. Version 4 has other names.
function paramsOf(sdk, call) {
  const old = call.major === 'ai-4';
  const content = [{ type: 'text', text: call.prompt }];
  if (call.image) content.unshift(old ? { type: 'image', image: call.image } : { type: 'file', mediaType: 'image/png', data: call.image });
  return {
    model: models[call.format](sdk, call),
    maxRetries: 0,
    messages: [{ role: 'user', content }],
    [old ? 'maxTokens' : 'maxOutputTokens']: call.max_tokens || undefined,
    providerOptions: call.level ? level[call.format] : call.think ? thinking[call.format] : plain[call.format] ?? {},
  };
}

function toolParams(sdk, call, reply) {
  const old = call.major === 'ai-4';
  const tools = toolbox.map(([name, property]) => [name, sdk.tool({
    description: 'Does it.',
    [old ? 'parameters' : 'inputSchema']: sdk.z.object({ [property]: sdk.z.string() }),
    execute: async (args) => runTool(reply, name, args),
  })]);
  return { tools: Object.fromEntries(tools), ...(old ? { maxSteps: maxRounds } : { stopWhen: sdk.stepCountIs(maxRounds) }) };
}

// read reads a stream to its end and throws the error in it, if any.
async function read(stream, reply) {
  let failure;
  for await (const part of stream) {
    if (part.type === 'text-delta') reply.text += part.text ?? part.textDelta;
    if (part.type === 'error') failure ??= part.error;
  }
  if (failure) throw failure;
}

// generateObject is how versions 4 and 5 make an object.
async function generateObject(sdk, call, reply, params) {
  const result = call.stream ? sdk.streamObject({ ...params, onError: () => {} }) : await sdk.generateObject(params);
  if (call.stream) await read(result.fullStream, reply);
  reply.object = await result.object;
  fill(reply, { text: '', usage: await result.usage });
}

function fill(reply, step) {
  reply.text = step.text;
  reply.thinking = step.reasoningText ?? (typeof step.reasoning === 'string' ? step.reasoning : '');
  reply.input = step.usage.inputTokens ?? step.usage.promptTokens ?? 0;
  reply.output = step.usage.outputTokens ?? step.usage.completionTokens ?? 0;
  // Version 4 warns of what it does by itself: it leaves out the temperature that it
  // has set, and Google's thinking is for it a feature of Vertex AI only.
  // Of Gemini's thinking, the state is in the calls: reasoning items have none.
  const warnings = (step.warnings ?? []).filter((w) => w.setting !== 'temperature' && !/includeThoughts|Reasoning parts without encrypted content/.test(w.message));
  reply.warnings.push(...warnings.map((w) => w.message ?? JSON.stringify(w)));
}

export default async function ai(sdk, call, reply) {
  const params = paramsOf(sdk, call);
  if (call.tools) Object.assign(params, toolParams(sdk, call, reply));
  if (call.object) {
    const schema = objectZod(sdk.z);
    if (['ai-4', 'ai-5'].includes(call.major)) return generateObject(sdk, call, reply, { ...params, schema });
    params.output = sdk.Output.object({ schema });
  }
  const result = call.stream ? sdk.streamText({ ...params, onError: () => {} }) : await sdk.generateText(params);
  if (call.stream) await read(result.fullStream, reply);
  const steps = await result.steps;
  for (const step of steps) fill(reply, step);
  if (call.object) reply.object = await result.output;
}
