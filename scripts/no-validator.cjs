// Instead of Ajv, by which the MCP SDK checks what users enter into forms: the sandbox shows none, and it is 45 kB packed.
module.exports = class {};
