BEGIN TRANSACTION;
CREATE TABLE events (
    root_run_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    method TEXT NOT NULL,
    params TEXT NOT NULL,
    PRIMARY KEY (root_run_id, seq)
) WITHOUT ROWID;
INSERT INTO "events" VALUES('a1',1,'a1','axe/agent','{"runId":"a1","rootRunId":"a1","agent":"lead","depth":0,"seq":1,"time":"2026-05-01T10:00:01.000Z","kind":"begin","task":"go","model":"ollama/m"}');
INSERT INTO "events" VALUES('a1',2,'b1','axe/agent','{"runId":"b1","rootRunId":"a1","agent":"helper","depth":1,"parentRunId":"a1","seq":2,"time":"2026-05-01T10:00:02.000Z","kind":"begin","task":"go","model":"ollama/m","parentAgent":"lead"}');
INSERT INTO "events" VALUES('a1',3,'b1','axe/turn','{"runId":"b1","rootRunId":"a1","agent":"helper","depth":1,"parentRunId":"a1","seq":3,"time":"2026-05-01T10:00:03.000Z","kind":"end","turn":1,"stopReason":"stop","text":"hi","toolCalls":[],"inputTokens":10,"outputTokens":5,"durationMs":900}');
INSERT INTO "events" VALUES('a1',4,'b1','axe/agent','{"runId":"b1","rootRunId":"a1","agent":"helper","depth":1,"parentRunId":"a1","seq":4,"time":"2026-05-01T10:00:04.000Z","kind":"end","status":"completed","inputTokens":10,"outputTokens":5,"turns":1,"toolCalls":0,"contentLength":4,"durationMs":1500}');
INSERT INTO "events" VALUES('a1',5,'a1','axe/agent','{"runId":"a1","rootRunId":"a1","agent":"lead","depth":0,"seq":5,"time":"2026-05-01T10:00:05.000Z","kind":"end","status":"completed","inputTokens":10,"outputTokens":5,"turns":1,"toolCalls":0,"contentLength":4,"durationMs":1500}');
CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    root_run_id TEXT NOT NULL,
    parent_run_id TEXT,
    agent TEXT NOT NULL,
    depth INTEGER NOT NULL,
    began TEXT NOT NULL,
    status TEXT NOT NULL,
    begin_seq INTEGER NOT NULL,
    end_seq INTEGER,
    workspace TEXT NOT NULL,
    writer TEXT NOT NULL,
    forget_after TEXT NOT NULL
);
INSERT INTO "runs" VALUES(1,'a1','a1',NULL,'lead',0,'2026-05-01T10:00:01.000Z','completed',1,5,'/work/here','somebody','2026-12-23T01:10:03');
INSERT INTO "runs" VALUES(2,'b1','a1','a1','helper',1,'2026-05-01T10:00:02.000Z','completed',2,4,'/work/here','somebody','');
CREATE INDEX runs_by_root ON runs (root_run_id);
CREATE INDEX runs_by_agent ON runs (agent, began);
CREATE INDEX runs_under_way ON runs (writer) WHERE status = 'running';
CREATE INDEX roots_by_time ON runs (began) WHERE depth = 0;
CREATE INDEX roots_by_status ON runs (status, began) WHERE depth = 0;
CREATE INDEX roots_to_forget ON runs (forget_after) WHERE depth = 0;
COMMIT;
PRAGMA user_version = 1;
