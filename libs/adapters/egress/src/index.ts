export { AllowList } from './allow-list.ts';
export { refusedAddressClass, type AddressClass } from './address-rules.ts';
export type { EgressCounters } from './counters.ts';
export { EgressError, type EgressErrorCode } from './egress-error.ts';
export { EgressProxy, type EgressProxyOptions, type NetworkingSource } from './egress-proxy.ts';
export { isHostAllowed, isInDomains, normaliseHost } from './host-rules.ts';
export { Outbound, type OutboundOptions, type Target } from './outbound.ts';
export type { Resolve } from './resolver.ts';
export type { ProxyLimits } from './session-proxy.ts';
