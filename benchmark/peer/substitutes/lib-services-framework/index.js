// Stands in for @powersync/lib-services-framework: the errors that a conversion throws are errors here, too.
export const ErrorCode = {};

export class ServiceError extends Error {
  constructor(_code, description) {
    super(description);
  }
}
export class DatabaseConnectionError extends ServiceError {}
export class ReplicationAbortedError extends ServiceError {}
export class ReplicationAssertionError extends Error {}
export class ServiceAssertionError extends Error {}

export const container = undefined;
export const logger = undefined;
