import { describe, expect, it } from 'vitest';

import { Metrics } from './metrics.ts';

describe('metrics', () => {
  it('renders what was counted, under the prefix and with the service', async () => {
    const metrics = new Metrics({ service: 'api' });
    metrics.counter({ name: 'requests_total', help: 'Requests.', labels: ['status'] }).inc({ status: '200' });
    const { text, contentType } = await metrics.render();
    expect(contentType).toContain('text/plain');
    expect(text).toContain('manyhands_requests_total{status="200",service="api"} 1');
  });

  it('asks a gauge with a reader at every scrape', async () => {
    const metrics = new Metrics({ service: 'api' });
    let open = 1;
    metrics.gauge({ name: 'streams_open', help: 'Open streams.' }, () => open);
    expect((await metrics.render()).text).toContain('manyhands_streams_open{service="api"} 1');
    open = 7;
    expect((await metrics.render()).text).toContain('manyhands_streams_open{service="api"} 7');
  });

  it('asks a counter with a reader at every scrape', async () => {
    const metrics = new Metrics({ service: 'api' });
    let count = 2;
    metrics.counter({ name: 'claims_total', help: 'Claims.' }, () => count);
    expect((await metrics.render()).text).toContain('manyhands_claims_total{service="api"} 2');
    count = 5;
    expect((await metrics.render()).text).toContain('manyhands_claims_total{service="api"} 5');
  });

  it('keeps two registries of one process apart', async () => {
    const first = new Metrics({ service: 'a' });
    const second = new Metrics({ service: 'b' });
    first.counter({ name: 'x_total', help: 'X.' }).inc();
    second.counter({ name: 'x_total', help: 'X.' });
    expect((await second.render()).text).toContain('manyhands_x_total{service="b"} 0');
  });

  it('sorts durations into buckets of seconds', async () => {
    const metrics = new Metrics({ service: 'a' });
    metrics.histogram({ name: 'append_seconds', help: 'Appends.' }).observe(0.003);
    expect((await metrics.render()).text).toContain('manyhands_append_seconds_bucket{le="0.005",service="a"} 1');
  });
});
