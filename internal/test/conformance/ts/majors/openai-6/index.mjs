export { AzureOpenAI, default } from 'openai';
export { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
export { z } from 'zod';
