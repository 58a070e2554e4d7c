const { check } = require('./check.cjs');

check(require('bsonrow'), require('bson'));
