export * from 'genai-old';
