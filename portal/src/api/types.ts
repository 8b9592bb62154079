/** The answers of the portal API, as the contract writes them. */
export type ApiName = 'sms' | 'verify' | 'messaging';

export interface Plan {
  name: string;
  per_minute: number;
  burst: number;
}

export interface Service {
  name: string;
  version: string;
  environment: 'sandbox' | 'production';
  base_url: string;
  token_url: string;
  plans: Plan[];
  scopes: { verify: string; messaging: string };
}

export interface Account {
  id: string;
  email: string;
  operator: boolean;
  created_at: string;
}

export interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
}

export interface Application {
  id: string;
  name: string;
  created_at: string;
  updated_at: string;
}

export interface Registration {
  id: string;
  api: ApiName;
  plan: string;
  status: string;
  requested_plan: string | null;
  created_at: string;
  updated_at: string;
}

export interface ClientSecret {
  id: string;
  last_four: string;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
}

export interface ApiKey extends ClientSecret {
  prefix: string;
}

export interface NewApiKey extends ApiKey {
  api_key: string;
}

export interface ApplicationDetail extends Application {
  registrations: Registration[];
  client: { client_id: string; secrets: ClientSecret[] } | null;
}

export interface ClientCredential {
  type: 'client';
  client_id: string;
  client_secret: string;
  token_url: string;
  scope: string;
}

export type Credential = { type: 'api_key'; id: string; api_key: string } | ClientCredential;

export interface Registered extends Registration {
  credential: Credential | null;
}

export interface WaitingRegistration extends Registration {
  application_id: string;
  application_name: string;
  account_email: string;
}

export interface Health {
  version: string;
  environment: string;
  started_at: string;
  checks: { name: string; ok: boolean }[];
  nodes: { id: string; seen_at: string }[];
  queue: { waiting: number; on_the_wire: number; oldest_due_seconds: number | null };
  pending_registrations: number;
  accounts: number;
  applications: number;
}
