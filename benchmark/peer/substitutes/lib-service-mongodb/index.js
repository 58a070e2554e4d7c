// Stands in for @powersync/lib-service-mongodb: the driver, and predicates that no conversion calls.
export * as mongo from 'mongodb';
export const isMaxTimeMSExpiredError = undefined;
export const isMongoServerError = undefined;
export const isTimeoutError = undefined;
