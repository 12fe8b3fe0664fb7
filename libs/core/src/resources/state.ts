/** What the fold knows of a workspace's agents and environments: facets only, and where their configuration stands. */
import type { AgentId, EnvironmentId, Instant, Seq } from '@manyhands/protocol';

export interface AgentState {
  kind: 'agent';
  id: AgentId;
  createdAt: Instant;
  updatedAt: Instant;
  archivedAt: Instant | null;
  /** The record that made it. */
  createdSeq: Seq;
  version: number;
  /** The record with the configuration of the latest version. */
  configSeq: Seq;
}

export interface EnvironmentState {
  kind: 'environment';
  id: EnvironmentId;
  createdAt: Instant;
  updatedAt: Instant;
  archivedAt: Instant | null;
  deletedAt: Instant | null;
  createdSeq: Seq;
  configSeq: Seq;
  /** Names are unique in a workspace; equal names have equal hashes. */
  nameHash: string;
}

export type ResourceState = AgentState | EnvironmentState;
