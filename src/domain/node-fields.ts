// The numeric fields of a node, each with one name from the panel's response to the metric.

/**
 * The numbers of a node in the panel's application API, in the order of their metrics
 * `gameserver_node_<name>`.
 */
export const NODE_FIELDS = {
  memory_bytes: 'Memory that the node has for servers, in bytes; absent if unlimited.',
  memory_allocated_bytes: "Sum of the memory limits of the node's servers, in bytes.",
  memory_overallocation_ratio:
    'Allowed memory overallocation of the node, as a ratio (0.2 is 20 %); +Inf if unlimited.',
  disk_bytes: 'Disk space that the node has for servers, in bytes; absent if unlimited.',
  disk_allocated_bytes: "Sum of the disk limits of the node's servers, in bytes.",
  disk_overallocation_ratio:
    'Allowed disk overallocation of the node, as a ratio (0.2 is 20 %); +Inf if unlimited.',
  cpu_cores:
    'CPU cores that the node has for servers; absent if unlimited, and on panels without such a limit.',
  cpu_allocated_cores: "Sum of the CPU limits of the node's servers, in cores.",
  cpu_overallocation_ratio:
    'Allowed CPU overallocation of the node, as a ratio (0.2 is 20 %); +Inf if unlimited.',
  maintenance: 'Whether the node is in maintenance mode.',
} as const;
