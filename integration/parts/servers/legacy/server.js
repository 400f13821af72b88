// What one session of the legacy fixture is served by: SDK v1's Server, with the
// tools, prompts and resources of the conformance suite.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  LoggingLevelSchema,
  McpError,
  ReadResourceRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { CONTENT_TOOLS } from './content-tools.js';
import { JOB_TOOLS } from './job-tools.js';
import { complete, getPrompt, promptList } from './prompts.js';
import { QUESTION_TOOLS } from './question-tools.js';
import { readResource, resourceList, templateList } from './resources.js';
import { SESSION_TOOLS } from './session-tools.js';

const TOOLS = { ...CONTENT_TOOLS, ...QUESTION_TOOLS, ...JOB_TOOLS, ...SESSION_TOOLS };

const toolList = Object.entries(TOOLS).map(([name, { inputSchema }]) => ({
  name,
  description: `the tool ${name}`,
  inputSchema: inputSchema ?? { type: 'object', properties: {} },
}));

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
};

const LEVELS = LoggingLevelSchema.options;

/**
 * newServer is the server of one session. flags.questions says where it asks: on the stream
 * of the call, or on that of the session; flags.page how much of a list it gives at a time.
 */
export function newServer(flags, runs, hub) {
  const info = { name: flags.name, version: '1.0.0' };
  const server = new Server(info, { capabilities: CAPABILITIES, instructions: `These are the instructions of ${flags.name}.` });
  const memory = {};
  let level = LEVELS[0];

  function callOf(args, extra) {
    const log = async (at, data) => {
      if (LEVELS.indexOf(at) < LEVELS.indexOf(level)) return;
      await extra.sendNotification({ method: 'notifications/message', params: { level: at, logger: flags.name, data } });
    };
    const sendRequest = flags.questions === 'session' ? server.request.bind(server) : extra.sendRequest;
    return { args: args ?? {}, extra: { ...extra, sendRequest }, counts: runs.counts, server, memory, hub, log };
  }

  function callTool({ params }, extra) {
    const tool = TOOLS[params.name];
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `unknown tool ${params.name}`);
    const call = callOf(params.arguments, extra);
    call.note = (what) => runs.note(what, params.name, call.args.nonce ?? params.name);
    return runs.run(params.name, call.args, extra.signal, () => resultOf(tool, call));
  }

  function listed(key, all) {
    return ({ params }) => {
      const first = Number(params?.cursor ?? 0);
      const next = first + (flags.page || all.length);
      return { [key]: all.slice(first, next), ...(next < all.length && { nextCursor: String(next) }) };
    };
  }

  server.setRequestHandler(CallToolRequestSchema, callTool);
  server.setRequestHandler(ListToolsRequestSchema, listed('tools', toolList));
  server.setRequestHandler(ListPromptsRequestSchema, listed('prompts', promptList));
  server.setRequestHandler(ListResourcesRequestSchema, listed('resources', resourceList));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, listed('resourceTemplates', templateList));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }, extra) => getPrompt(params.name, callOf(params.arguments, extra)));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }, extra) => readResource(params.uri, callOf({}, extra)));
  server.setRequestHandler(CompleteRequestSchema, ({ params }) => complete(params));
  server.setRequestHandler(SetLevelRequestSchema, ({ params }) => {
    level = params.level;
    return {};
  });
  server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    hub.watch(server, params.uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    hub.unwatch(server, params.uri);
    return {};
  });
  if (flags.greets) {
    server.oninitialized = () => server.listRoots().catch((error) => console.error(`no roots: ${error.message}`));
  }
  hub.add(server);
  server.onclose = () => hub.remove(server);
  return server;
}

// As McpServer does it: what a tool throws is its result, unless it means an error of the protocol.
async function resultOf(tool, call) {
  try {
    return await tool.run(call);
  } catch (error) {
    if (tool.breaks) throw error;
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
}
