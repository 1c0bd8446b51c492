// Instead of Ajv, which the MCP SDK uses to check forms: the sandbox shows none, and it is 45 kB packed.
module.exports = class {};
