// What no assertion of promptfoo says, from the spans of a run.
const tools = ({ trace }) =>
  trace.spans
    .filter((span) => span.name.startsWith('execute_tool '))
    .sort((one, other) => one.startTime - other.startTime)
    .map((span) => ({
      span,
      name: span.attributes['gen_ai.tool.name'],
      args: JSON.parse(span.attributes['gen_ai.tool.call.arguments']),
    }));

const agents = ({ trace }, name) => trace.spans.filter((span) => span.name === `invoke_agent ${name}`);

const isBelow = ({ trace }, span, above) => {
  const parent = trace.spans.find((each) => each.spanId === span.parentSpanId);
  return parent !== undefined && (parent === above || isBelow({ trace }, parent, above));
};

const paths = (context) => tools(context).map(({ args }) => args.path);

module.exports = {
  readsPython: (_, context) => paths(context).some((path) => /\.py$/.test(path)),
  readsInOrder: (_, context) => {
    const readme = paths(context).indexOf('README.md');
    return readme >= 0 && paths(context).slice(readme).includes('CHANGELOG.md');
  },
  readsExactly: (_, context) => paths(context).join() === 'README.md,CHANGELOG.md',
  readFails: (_, context) => tools(context).some(({ span }) => span.statusCode === 2),
  asksAboutUnits: (_, context) =>
    tools(context).some(({ args }) => args.agent === 'tests' && args.task.includes('units')),
  docsAreFine: (_, context) =>
    agents(context, 'docs').some((span) => String(span.attributes.final_result).includes('fine')),
  docsRead: (_, context) =>
    agents(context, 'docs').some((docs) =>
      tools(context).some(({ name, span }) => name === 'read_file' && isBelow(context, span, docs)),
    ),
  docsAskLinks: (_, context) =>
    agents(context, 'docs').some((docs) =>
      agents(context, 'links').some((links) => isBelow(context, links, docs)),
    ),
};
