// What `--into` names.

export function isPostgresAddress(address) {
  return /^postgres(ql)?:\/\//i.test(address);
}
