export { createLogger, describeError, logLevels, type LoggerOptions, type LogLevel } from './logger.ts';
export { ConfigError, loadConfig, type Environment } from './load-config.ts';
export { Metrics, type Counter, type Gauge, type Histogram, type MetricOptions } from './metrics.ts';
export { shutDown, untilStopSignal, type ShutdownStep, type StopSignal } from './shutdown.ts';
