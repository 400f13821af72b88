// The prompts of the suite's core scenarios, and how their arguments complete.
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { elicit } from './ask.js';
import { embedded, image, text } from './samples.js';

const user = (content) => ({ role: 'user', content });
const required = (...names) => names.map((name) => ({ name, description: `the argument ${name}`, required: true }));

async function asking(call) {
  const { content } = await elicit(call, 'What context should the prompt use?', { context: { type: 'string' } });
  return [user(text(`Use this context: ${content?.context}`))];
}

const PROMPTS = {
  test_simple_prompt: { messages: () => [user(text('This is a simple prompt for testing.'))] },
  test_prompt_with_arguments: {
    arguments: required('arg1', 'arg2'),
    messages: ({ args }) => [user(text(`Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'`))],
  },
  test_prompt_with_embedded_resource: {
    arguments: required('resourceUri'),
    messages: ({ args }) => [
      user(embedded(args.resourceUri, 'text/plain', 'Embedded resource content for testing.')),
      user(text('Please process the embedded resource above.')),
    ],
  },
  test_prompt_with_image: { messages: () => [user(image), user(text('Please analyze the image above.'))] },
  test_input_required_result_prompt: { messages: asking },
};

export const promptList = Object.entries(PROMPTS).map(([name, prompt]) => ({
  name,
  description: `the prompt ${name}`,
  ...(prompt.arguments && { arguments: prompt.arguments }),
}));

export async function getPrompt(name, call) {
  const prompt = PROMPTS[name];
  if (!prompt) throw new McpError(ErrorCode.InvalidParams, `unknown prompt ${name}`);
  return { messages: await prompt.messages(call) };
}

const WORDS = ['paris', 'park', 'party', 'test one', 'test two'];

export function complete({ argument }) {
  const values = WORDS.filter((word) => word.startsWith(argument.value));
  return { completion: { values, total: values.length, hasMore: false } };
}
