// What all libraries share: the tools of a call, and the object that it asks for.

// toolbox is the tools of a call: name and the only property.
export const toolbox = [['weather', 'city'], ['time', 'tz']];

export const maxRounds = 8;

// runTool records a tool call in the reply.
export function runTool(reply, name, args) {
  reply.calls.push(`${name} ${JSON.stringify(args)}`);
  return `result ${reply.calls.length} of ${name}`;
}

// schemaOf is the JSON schema of a tool with one property.
export const schemaOf = (property) => ({ type: 'object', properties: { [property]: { type: 'string' } }, required: [property] });

// objectSchema is the JSON schema of the object that a call asks for, and
// objectZod the same for libraries that take no JSON schema.
export const objectSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'array', items: { type: 'number' } } },
  required: ['city', 'days'],
  additionalProperties: false,
};
export const objectZod = (z) => z.object({ city: z.string(), days: z.array(z.number()) });

export const joined = (blocks, type, member) => blocks.filter((b) => b.type === type).map((b) => b[member]).join('');
