export { AzureOpenAI, default } from 'openai';
export { ResponsesToolRunner } from 'openai/helpers/responses-tool-runner';
export { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
export { z } from 'zod';
