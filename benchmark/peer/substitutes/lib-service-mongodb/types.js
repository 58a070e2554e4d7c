// Stands in for @powersync/lib-service-mongodb/types, of which no conversion needs a name.
export {};
