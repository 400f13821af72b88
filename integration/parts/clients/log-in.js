// Drives the published SDK v1 client through OAuth: it comes without a token, finds
// from the answer where to get one, logs in there, and calls a tool with it.
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { flags, Report } from './report.js';

const { url, calls } = flags();
const report = new Report();

/** Login is what a host keeps of a client's way to its token. Its user agrees to everything. */
class Login {
  redirectUrl = 'http://localhost/callback';
  clientMetadata = { client_name: 'log-in', redirect_uris: [this.redirectUrl] };
  #kept = {};

  clientInformation = () => this.#kept.client;
  saveClientInformation = (client) => { this.#kept.client = client; };
  tokens = () => this.#kept.tokens;
  saveTokens = (tokens) => { this.#kept.tokens = tokens; };
  codeVerifier = () => this.#kept.verifier;
  saveCodeVerifier = (verifier) => { this.#kept.verifier = verifier; };

  async redirectToAuthorization(place) {
    const answer = await fetch(place, { redirect: 'manual' });
    this.code = new URL(answer.headers.get('location')).searchParams.get('code');
  }
}

async function connected(login) {
  const client = new Client({ name: 'log-in', version: '1.0.0' });
  const transport = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: login });
  const first = transport();
  try {
    await client.connect(first);
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    await first.finishAuth(login.code);
    await client.connect(transport());
  }
  return client;
}

async function greet(name) {
  const login = new Login();
  const client = await connected(login);
  try {
    if (login.code === undefined) return 'was let in without a token';
    const answer = await client.callTool({ name: 'greet', arguments: { name } });
    return answer.content[0].text.includes(name) ? undefined : 'the greeting is for somebody else';
  } finally {
    await client.close();
  }
}

await Promise.all(Array.from({ length: calls }, (_, i) => report.run(`call ${i}`, () => greet(`caller-${i}`))));
report.finish();
