// The Agents SDK, whose runner makes the loop. Responses is its default.
import { maxRounds, objectZod, runTool, toolbox } from './tools.mjs';

const thinking = { reasoning: { effort: 'high', summary: 'auto' } };

export default async function agents(sdk, call, reply) {
  const client = new sdk.OpenAI({ baseURL: `${call.base_url}/v1`, apiKey: call.key, maxRetries: 0 });
  sdk.setDefaultOpenAIClient(client);
  sdk.setOpenAIAPI(call.format === 'chat' ? 'chat_completions' : 'responses');
  sdk.setTracingDisabled(true);
  const agent = new sdk.Agent({
    name: 'agent',
    model: call.model || (call.format === 'chat' ? 'gpt-5' : 'gpt-5.6'),
    instructions: 'You help.',
    modelSettings: {
      ...(call.think && thinking),
      // In chat it sends max_tokens, which models with thinking refuse.
      ...(call.format !== 'chat' && { maxTokens: call.max_tokens || undefined, store: false, providerData: { include: ['reasoning.encrypted_content'] } }),
    },
    tools: (call.tools ? toolbox : []).map(([name, property]) => sdk.tool({
      name, description: 'Does it.', parameters: sdk.z.object({ [property]: sdk.z.string() }), execute: (args) => runTool(reply, name, args),
    })),
    ...(call.object && { outputType: objectZod(sdk.z) }),
  });
  const runner = new sdk.Runner({ modelProvider: new sdk.OpenAIProvider() });
  let items = [];
  let result;
  for (const [i, prompt] of [call.prompt, ...(call.more ?? [])].entries()) {
    const content = [{ type: 'input_text', text: prompt }];
    if (call.image) content.unshift({ type: 'input_image', image: `data:image/png;base64,${call.image}` });
    const stream = call.stream || i % 2 === 1;
    result = await runner.run(agent, [...items, { role: 'user', content }], { stream, maxTurns: maxRounds });
    if (stream) {
      for await (const _ of result) { /* to its end */ }
      await result.completed;
      if (result.error) throw result.error;
    }
    items = result.history;
  }
  const last = result.rawResponses.at(-1);
  const parts = last.output.filter((i) => i.type === 'reasoning').flatMap((i) => (i.rawContent?.length ? i.rawContent : i.content));
  reply.thinking = parts.map((p) => p.text).join('');
  reply.input = last.usage.inputTokens;
  reply.output = last.usage.outputTokens;
  if (call.object) reply.object = result.finalOutput;
  else reply.text = result.finalOutput;
}
