// Stands in for @powersync/service-core: names of the replication job, none of which a conversion uses.
export const bson = undefined;
export const PerformanceTracer = undefined;
export const RelationCache = undefined;
export const ReplicationLagTracker = undefined;
export const SaveOperationTag = undefined;
export const storage = undefined;
