// LangChain, with the loop of its documentation.
import { maxRounds, objectZod, runTool, toolbox } from './tools.mjs';

const models = {
  messages: (sdk, call) => new sdk.ChatAnthropic({
    model: 'claude-sonnet-4-5',
    anthropicApiUrl: call.base_url,
    apiKey: call.key,
    maxRetries: 0,
    maxTokens: call.max_tokens || 4096,
    ...(call.think && { temperature: 1, thinking: { type: 'enabled', budget_tokens: 2048 } }), // version 0.3 sets another
  }),
  google: (sdk, call) => new sdk.ChatGoogleGenerativeAI({
    model: call.major === 'langchain-0.3' ? 'gemini-2.5-pro' : 'gemini-3-pro-preview', // the older sends images to models that it knows
    baseUrl: call.base_url,
    apiKey: call.key,
    maxRetries: 0,
    ...(call.level ? { thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' } } : call.think && { thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 } }),
  }),
  chat: (sdk, call) => openAI(sdk, call, false),
  responses: (sdk, call) => openAI(sdk, call, true),
};

const openAI = (sdk, call, responses) => new sdk.ChatOpenAI({
  model: responses ? 'gpt-5.6' : 'gpt-5',
  apiKey: call.key,
  configuration: { baseURL: `${call.base_url}/v1` },
  maxRetries: 0,
  maxTokens: call.max_tokens || 4096,
  useResponsesApi: responses,
  zdrEnabled: responses, // nothing is stored
  ...(call.think && { reasoning: { effort: 'high', ...(responses && { summary: 'auto' }) } }),
});

// thinkingOf returns the thinking that the library keeps beside the content.
function thinkingOf({ additional_kwargs: more }) {
  return more.reasoning_content ?? more.reasoning?.summary?.map((s) => s.text).join('') ?? '';
}

// text returns the texts of a message, or its thinking.
function text(message, thinking) {
  if (typeof message.content === 'string') return thinking ? '' : message.content;
  return message.content.map((b) => (thinking ? b.thinking ?? b.reasoning ?? '' : b.type === 'text' ? b.text : '')).join('');
}

// object makes an object. The last chunk of a stream has all of it.
async function object(sdk, model, messages, call, reply) {
  const structured = model.withStructuredOutput(objectZod(sdk.z));
  if (!call.stream) {
    reply.object = await structured.invoke(messages);
    return;
  }
  for await (const chunk of await structured.stream(messages)) reply.object = chunk;
}

export default async function langchain(sdk, call, reply) {
  const content = [{ type: 'text', text: call.prompt }];
  if (call.image) content.unshift({ type: 'image_url', image_url: { url: `data:image/png;base64,${call.image}` } });
  const messages = [new sdk.HumanMessage({ content })];
  let model = models[call.format](sdk, call);
  if (call.object) return object(sdk, model, messages, call, reply);
  const tools = Object.fromEntries((call.tools ? toolbox : []).map(([name, property]) => [name, sdk.tool(
    (args) => runTool(reply, name, args),
    { name, description: 'Does it.', schema: sdk.z.object({ [property]: sdk.z.string() }) },
  )]));
  if (call.tools) model = model.bindTools(Object.values(tools));
  for (let round = 0; round < maxRounds; round++) {
    let message;
    if (call.stream) {
      for await (const chunk of await model.stream(messages)) {
        message = message ? message.concat(chunk) : chunk;
        reply.text = text(message, false);
      }
    } else {
      message = await model.invoke(messages);
    }
    messages.push(message);
    reply.text = text(message, false);
    reply.thinking = text(message, true) || thinkingOf(message);
    reply.input = message.usage_metadata?.input_tokens ?? 0;
    reply.output = message.usage_metadata?.output_tokens ?? 0;
    if (!message.tool_calls?.length) return;
    for (const c of message.tool_calls) messages.push(await tools[c.name].invoke(c));
  }
  throw new Error('the loop does not end');
}
