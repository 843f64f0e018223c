export { default } from '@anthropic-ai/sdk';
export { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
