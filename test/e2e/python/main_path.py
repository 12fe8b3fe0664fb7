"""The main path of the API by the official Python SDK. Each check is a function; the first failure ends the run with 1."""

import json
import os
import uuid

from anthropic import Anthropic, BadRequestError, ConflictError, NotFoundError
from anthropic.lib.sessions import accumulate_managed_agents_event

client = Anthropic(base_url=os.environ["MANYHANDS_URL"], api_key=os.environ["MANYHANDS_API_KEY"], max_retries=0)
beta = client.beta
MODEL = "claude-sonnet-5"


def script(*turns):
    """The text of a message that plays these turns of the model."""
    return "#script " + json.dumps({"id": str(uuid.uuid4()), "turns": turns})


def message(text):
    return {"type": "user.message", "content": [{"type": "text", "text": text}]}


def send(session, *events):
    return beta.sessions.events.send(session.id, events=list(events))


def turn(session, *events):
    """Streams first, sends, and reads up to the idle of the session."""
    seen = []
    with beta.sessions.events.stream(session.id) as stream:
        send(session, *events)
        for event in stream:
            seen.append(event)
            if event.type == "session.status_idle":
                return seen
    raise AssertionError(f"the stream ended after {[event.type for event in seen]}")


def only(events, kind):
    return [event for event in events if event.type == kind]


def refused(error, call):
    try:
        call()
    except error as caught:
        return caught
    raise AssertionError(f"{error.__name__} was expected")


environment = beta.environments.create(name=f"python-{uuid.uuid4()}")


def new_agent(**params):
    return beta.agents.create(name="Python", model=MODEL, **params)


def new_session(agent, **params):
    return beta.sessions.create(agent=agent.id, environment_id=environment.id, **params)


toolset = {"type": "agent_toolset_20260401"}


def resources():
    assert beta.environments.retrieve(environment.id) == environment
    agent = new_agent(tools=[toolset], system="Be brief.")
    assert agent.version == 1 and agent.model.id == MODEL
    updated = beta.agents.update(agent.id, version=1, system="Be very brief.")
    assert updated.version == 2
    conflict = refused(ConflictError, lambda: beta.agents.update(agent.id, version=1, system="No."))
    assert conflict.response.headers["x-should-retry"] == "false"
    assert [one.version for one in beta.agents.versions.list(agent.id, limit=1)] == [2, 1]
    assert beta.agents.retrieve(agent.id, version=1) == agent
    assert beta.agents.archive(agent.id).archived_at is not None
    refused(BadRequestError, lambda: new_session(agent))
    refused(NotFoundError, lambda: beta.sessions.retrieve("sesn_01nothing"))


def turns_with_tools():
    session = new_session(new_agent(tools=[toolset]), title="From Python")
    seen = turn(session, message(script([{"tool": "bash", "input": {"command": "echo 6 * 7 = $((6 * 7))"}}], [{"text": "Done."}])))
    assert "42" in only(seen, "agent.tool_result")[0].content[0].text
    assert only(seen, "agent.message")[0].content[0].text == "Done."
    assert seen[-1].stop_reason.type == "end_turn"
    listed = list(beta.sessions.events.list(session.id, limit=2))
    assert [event.id for event in listed] == [event.id for event in seen if event.processed_at is not None]
    assert [event.type for event in beta.sessions.events.list(session.id, types=["agent.message"])] == ["agent.message"]
    backwards = list(beta.sessions.events.list(session.id, order="desc", limit=3))
    assert [event.id for event in reversed(backwards)] == [event.id for event in listed]


def send_first():
    session = new_session(new_agent())
    for number in range(10):
        text = f"Number {number}"
        send(session, message(text))
        with beta.sessions.events.stream(session.id) as stream:
            seen = []
            for event in stream:
                seen.append(event)
                if event.type == "session.status_idle":
                    break
        assert text in only(seen, "agent.message")[0].content[0].text


def previews():
    session = new_session(new_agent())
    text = "A message that comes in pieces. " * 8
    snapshot = None
    deltas = 0
    with beta.sessions.events.stream(session.id, event_deltas=["agent.message"]) as stream:
        send(session, message(script({"blocks": [{"text": text}], "tokenDelayMs": 2})))
        for event in stream:
            snapshot = accumulate_managed_agents_event(snapshot, event)
            deltas += event.type == "event_delta"
            if event.type == "session.status_idle":
                break
    assert deltas > 1
    assert snapshot.content[0].text == text


def interrupt():
    session = new_session(new_agent(tools=[toolset]))
    with beta.sessions.events.stream(session.id) as stream:
        send(session, message(script([{"tool": "bash", "input": {"command": "sleep 600"}}], [{"text": "Never."}])))
        for event in stream:
            if event.type == "agent.tool_use":
                send(session, {"type": "user.interrupt"})
            if event.type == "session.status_idle":
                break
    assert event.stop_reason.type == "end_turn"
    results = list(beta.sessions.events.list(session.id, types=["agent.tool_result"]))
    assert len(results) == 1 and results[0].is_error


def confirmation():
    asking = {**toolset, "default_config": {"permission_policy": {"type": "always_ask"}}}
    session = new_session(new_agent(tools=[asking]))
    calls = [{"tool": "bash", "input": {"command": f"echo {word}"}} for word in ("one", "two")]
    seen = turn(session, message(script(calls, [{"text": "Done."}])))
    one, two = seen[-1].stop_reason.event_ids
    allow = {"type": "user.tool_confirmation", "tool_use_id": one, "result": "allow"}
    deny = {"type": "user.tool_confirmation", "tool_use_id": two, "result": "deny", "deny_message": "Enough."}
    refused(BadRequestError, lambda: send(session, message("Go on!")))
    results = only(turn(session, allow, deny), "agent.tool_result")
    told = {result.tool_use_id: (bool(result.is_error), result.content[0].text) for result in results}
    assert told[one][0] is False and "one" in told[one][1]
    assert told[two][0] is True and "Enough." in told[two][1]


def custom_tool():
    tool = {"type": "custom", "name": "weather", "description": "Tells it.", "input_schema": {"type": "object"}}
    session = new_session(new_agent(tools=[tool]))
    seen = turn(session, message(script([{"tool": "weather", "input": {"city": "Rome"}}], [{"text": "Sunny."}])))
    (call,) = only(seen, "agent.custom_tool_use")
    assert call.input == {"city": "Rome"} and seen[-1].stop_reason.event_ids == [call.id]
    answer = {
        "type": "user.custom_tool_result",
        "custom_tool_use_id": call.id,
        "content": [{"type": "text", "text": "22 degrees"}],
    }
    assert only(turn(session, answer), "agent.message")[0].content[0].text == "Sunny."


def lists_and_ends():
    agent = new_agent()
    made = [new_session(agent, title=str(number)) for number in range(5)]
    walked = [session.id for session in beta.sessions.list(agent_id=agent.id, limit=2)]
    assert sorted(walked) == sorted(session.id for session in made)
    threads = list(beta.sessions.threads.list(made[0].id))
    assert len(threads) == 1
    assert beta.sessions.update(made[0].id, title="New").title == "New"
    assert beta.sessions.archive(made[0].id).status == "terminated"
    assert beta.sessions.delete(made[1].id).type == "session_deleted"
    refused(NotFoundError, lambda: beta.sessions.retrieve(made[1].id))
    assert len(list(beta.sessions.list(agent_id=agent.id))) == 3


for check in (resources, turns_with_tools, send_first, previews, interrupt, confirmation, custom_tool, lists_and_ends):
    check()
    print(check.__name__, flush=True)
