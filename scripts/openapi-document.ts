// Prints the OpenAPI document of the three APIs.
import { createOpenApi, routesOf } from '../src/http/openapi/document.ts';
import { createUnconnectedApp } from './unconnected-app.ts';

const publicUrl = 'http://127.0.0.1:8080';
const about = { publicUrl, version: '0', tokenUrl: `${publicUrl}/token`, sessionCookie: 'session' };
const document = JSON.stringify(createOpenApi(routesOf(createUnconnectedApp().routes, 'apis'), about));
process.stdout.write(document, () => process.exit(0));
