BEGIN TRANSACTION;
CREATE TABLE alias (
             url TEXT PRIMARY KEY,
             source_id INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE
           ) STRICT, WITHOUT ROWID;
INSERT INTO "alias" VALUES('https://www.youtube.com/@느린부엌',1);
CREATE TABLE analysis (
             window_id TEXT PRIMARY KEY REFERENCES window (id) ON DELETE CASCADE,
             count INTEGER NOT NULL, morphemes BLOB NOT NULL
           ) STRICT, WITHOUT ROWID;
INSERT INTO "analysis" VALUES('5557fcef-adc5-5212-a16a-d979ccb855cb',9,X'7801636060606001627620E606627E20160662712096066279206602623620E604625E20160262512096026259205602E2373396BCEE9AC1F57AE58E373B6770BDDABAF6F59A3D20EA4D0750B071F29BB95B6082401ED7AB0D2D6FE62DE57ADDB21800685E2466');
INSERT INTO "analysis" VALUES('d31b473a-e918-595f-85e6-f9f2d04809dd',3,X'78016360606060066276206602625620E604E23773B7BC593087EBF5F29ED7132770BDDE390B0068C60AFC');
CREATE TABLE answer (
             id INTEGER PRIMARY KEY,
             asked_at INTEGER NOT NULL, question TEXT NOT NULL, text TEXT NOT NULL, model TEXT NOT NULL,
             prompt TEXT NOT NULL, way TEXT NOT NULL, ending TEXT NOT NULL, sources TEXT NOT NULL,
             citations TEXT NOT NULL
           ) STRICT;
INSERT INTO "answer" VALUES(1,1,'국물?','멸치 [1]','m','p','search','done','[]','[]');
CREATE TABLE channel (id TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT;
INSERT INTO "channel" VALUES('folder-a719198a32c040bc','c');
INSERT INTO "channel" VALUES('UCslow','느린 부엌');
CREATE TABLE channel_client (channel_id TEXT PRIMARY KEY, client TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO "channel_client" VALUES('UCslow','web');
CREATE TABLE channel_model (channel_id TEXT PRIMARY KEY, model TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO "channel_model" VALUES('UCslow','m');
CREATE TABLE context (
             key TEXT PRIMARY KEY,
             window_id TEXT NOT NULL,
             video_id TEXT NOT NULL REFERENCES video (id) ON DELETE CASCADE,
             transcript TEXT NOT NULL, model TEXT NOT NULL, digest TEXT NOT NULL, prompt TEXT NOT NULL,
             scope TEXT NOT NULL CHECK (scope IN ('full', 'block')),
             seed INTEGER NOT NULL, text TEXT NOT NULL, raw TEXT NOT NULL, doubts TEXT NOT NULL,
             prompt_tokens INTEGER NOT NULL, tokens INTEGER NOT NULL, prompt_ms INTEGER NOT NULL, ms INTEGER NOT NULL,
             tries INTEGER NOT NULL, stale INTEGER NOT NULL, written_at INTEGER NOT NULL
           ) STRICT;
INSERT INTO "context" VALUES('k0','5557fcef-adc5-5212-a16a-d979ccb855cb','noodle00001','t','m','d','p','full',0,'국물을 낸다','{}','[]',1,2,3,4,1,0,1700000000);
INSERT INTO "context" VALUES('k1','d31b473a-e918-595f-85e6-f9f2d04809dd','noodle00001','t','m','d','p','full',0,'국물을 낸다','{}','[]',1,2,3,4,1,0,1700000000);
CREATE TABLE context_term (
             form TEXT NOT NULL,
             window_id TEXT NOT NULL REFERENCES window (id) ON DELETE CASCADE,
             PRIMARY KEY (form, window_id)
           ) STRICT, WITHOUT ROWID;
INSERT INTO "context_term" VALUES('육수','5557fcef-adc5-5212-a16a-d979ccb855cb');
CREATE TABLE detail (
             video_id TEXT PRIMARY KEY REFERENCES video (id) ON DELETE CASCADE,
             description TEXT NOT NULL, thumbnail TEXT, storyboard TEXT, heatmap TEXT NOT NULL
           ) STRICT, WITHOUT ROWID;
INSERT INTO "detail" VALUES('noodle00001','',NULL,NULL,'[]');
INSERT INTO "detail" VALUES('slowcook009','육수',NULL,NULL,'[]');
CREATE TABLE glossary (channel_id TEXT PRIMARY KEY, names TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO "glossary" VALUES('UCslow','[]');
CREATE TABLE indexed (
             window_id TEXT NOT NULL REFERENCES window (id) ON DELETE CASCADE,
             vector TEXT NOT NULL, encoder TEXT NOT NULL, source_hash TEXT NOT NULL,
             PRIMARY KEY (window_id, vector)
           ) STRICT, WITHOUT ROWID;
INSERT INTO "indexed" VALUES('5557fcef-adc5-5212-a16a-d979ccb855cb','bm25','kiwi0.24-v5-40b2efbf','d6c20380a0370a615e93d9669ea905ea0ea9212ce0520f00901e32bad147bd39/');
INSERT INTO "indexed" VALUES('d31b473a-e918-595f-85e6-f9f2d04809dd','bm25','kiwi0.24-v5-40b2efbf','d6c20380a0370a615e93d9669ea905ea0ea9212ce0520f00901e32bad147bd39/');
CREATE TABLE level (
             id TEXT PRIMARY KEY,
             video_id TEXT NOT NULL REFERENCES video (id) ON DELETE CASCADE,
             level TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, source TEXT NOT NULL
           ) STRICT, WITHOUT ROWID;
INSERT INTO "level" VALUES('l','noodle00001','video',0,1,'h');
CREATE TABLE listed (
             source_id INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE,
             video_id TEXT NOT NULL, removed INTEGER NOT NULL DEFAULT 0,
             PRIMARY KEY (source_id, video_id)
           ) STRICT, WITHOUT ROWID;
INSERT INTO "listed" VALUES(1,'slowcook000',0);
INSERT INTO "listed" VALUES(1,'slowcook001',0);
INSERT INTO "listed" VALUES(1,'slowcook002',1);
CREATE TABLE mark (
             id INTEGER PRIMARY KEY,
             video_id TEXT NOT NULL, start_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL, at_ms INTEGER NOT NULL,
             title TEXT NOT NULL, channel TEXT NOT NULL, url TEXT, line TEXT NOT NULL, note TEXT NOT NULL,
             tag TEXT NOT NULL, marked_at INTEGER NOT NULL,
             UNIQUE (video_id, start_ms, end_ms)
           ) STRICT;
INSERT INTO "mark" VALUES(1,'noodle00001',0,90000,0,'국수','c','https://www.youtube.com/watch?v=noodle00001','오늘은 멸치 국물로 국수를 끓여요','다시 보기','',1795719869);
CREATE TABLE overview (
             key TEXT PRIMARY KEY,
             video_id TEXT NOT NULL REFERENCES video (id) ON DELETE CASCADE,
             text TEXT NOT NULL
           ) STRICT, WITHOUT ROWID;
INSERT INTO "overview" VALUES('o','noodle00001','개요');
CREATE TABLE overview_section (
             key TEXT PRIMARY KEY,
             video_id TEXT NOT NULL REFERENCES video (id) ON DELETE CASCADE,
             source TEXT NOT NULL, text TEXT NOT NULL
           ) STRICT, WITHOUT ROWID;
INSERT INTO "overview_section" VALUES('s','noodle00001','h','부분');
CREATE TABLE purge (video_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO "purge" VALUES('gone');
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
INSERT INTO "setting" VALUES('rule','p1.w3.60-20-90.o12');
INSERT INTO "setting" VALUES('found_scenes','[["5557fcef-adc5-5212-a16a-d979ccb855cb", 0, 0, 90000]]');
CREATE TABLE source (
             id INTEGER PRIMARY KEY,
             url TEXT NOT NULL UNIQUE,
             channel_id TEXT, name TEXT NOT NULL, options TEXT NOT NULL,
             whole INTEGER NOT NULL DEFAULT 0,
             listed_at INTEGER
           , unlisted INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "source" VALUES(1,'https://www.youtube.com/@slow','UCslow','느린 부엌','{"limit": null, "since": null, "tabs": ["videos"], "languages": ["ko"], "match": null}',1,1700000000,0);
CREATE TABLE stage (
             video_id TEXT NOT NULL REFERENCES video (id) ON DELETE CASCADE,
             name TEXT NOT NULL CHECK (name IN ('captions', 'contexts', 'vectors')),
             state TEXT NOT NULL CHECK (state IN ('due', 'done', 'failed')),
             failure TEXT, details TEXT, since INTEGER,
             tries INTEGER NOT NULL DEFAULT 0,
             retry_at INTEGER,
             PRIMARY KEY (video_id, name)
           ) STRICT, WITHOUT ROWID;
INSERT INTO "stage" VALUES('noodle00001','captions','done',NULL,NULL,NULL,0,NULL);
INSERT INTO "stage" VALUES('slowcook000','captions','failed','not_found','{"reason":"This video is not available","recheck":true}',1700000000,2,1700000100);
INSERT INTO "stage" VALUES('slowcook001','captions','failed','members_only','{}',1700000001,2,NULL);
INSERT INTO "stage" VALUES('slowcook002','captions','failed','no_captions','{"reason": "x"}',1700000002,2,NULL);
CREATE TABLE term (form TEXT PRIMARY KEY, windows INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO "term" VALUES('간장',1);
INSERT INTO "term" VALUES('국물',1);
INSERT INTO "term" VALUES('국수',1);
INSERT INTO "term" VALUES('끓',1);
INSERT INTO "term" VALUES('끓이',1);
INSERT INTO "term" VALUES('넣',1);
INSERT INTO "term" VALUES('만두',1);
INSERT INTO "term" VALUES('멸치',1);
INSERT INTO "term" VALUES('빚',1);
INSERT INTO "term" VALUES('오늘',1);
INSERT INTO "term" VALUES('이제',1);
CREATE TABLE track (
             video_id TEXT PRIMARY KEY REFERENCES video (id) ON DELETE CASCADE,
             language TEXT NOT NULL,
             kind TEXT NOT NULL CHECK (kind IN ('manual', 'asr', 'file')),
             format TEXT NOT NULL, raw BLOB NOT NULL, sha256 TEXT NOT NULL, fetched_at INTEGER NOT NULL
           , flag TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO "track" VALUES('noodle00001','ko','file','vtt',X'785E4D8E4D0AC2301085F739C55CA032FE74D3850BC11B947A1D850A625D288A869288628B142AB888602127EACC21ACA90577F3E07DDF9BD9741285A1108801620F11C1F3C6D0A4814B8265466BC97A0E54BCB99250BF1E545ABAAAEFC52B49B9055AECF954727A709E96EC3C23DF795A8CB5716565A930503F633EE7AC63A0F8C647D309FC3F413F18FE1ED1862F0AE8BEA1DDD68D5669C3009925278A924C7C00443E5EAC','76c4438869575b3af45d9a346ab45d2c145b20eb6aeda8a6cccbb58edac3a0d6',1795719857,'');
INSERT INTO "track" VALUES('slowcook009','ko','asr','vtt',X'78','0',1,'dub');
CREATE TABLE track_selection (
             video_id TEXT PRIMARY KEY REFERENCES video (id) ON DELETE CASCADE,
             tracks TEXT NOT NULL, taken INTEGER NOT NULL, flag TEXT NOT NULL, withheld INTEGER NOT NULL
           ) STRICT, WITHOUT ROWID;
INSERT INTO "track_selection" VALUES('slowcook009','[["ko","asr",null,""]]',0,'dub',0);
CREATE TABLE video (
             id TEXT PRIMARY KEY,
             channel_id TEXT NOT NULL REFERENCES channel (id),
             title TEXT NOT NULL, url TEXT, published TEXT, duration_ms INTEGER, chapters TEXT NOT NULL, source TEXT
           , kind TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO "video" VALUES('noodle00001','folder-a719198a32c040bc','국수','https://www.youtube.com/watch?v=noodle00001',NULL,NULL,'[]','/captions/국수 [noodle00001].ko.vtt','');
INSERT INTO "video" VALUES('slowcook000','UCslow','국수 0','https://www.youtube.com/watch?v=slowcook000',NULL,NULL,'[]',NULL,'video');
INSERT INTO "video" VALUES('slowcook001','UCslow','국수 1','https://www.youtube.com/watch?v=slowcook001',NULL,NULL,'[]',NULL,'video');
INSERT INTO "video" VALUES('slowcook002','UCslow','국수 2','https://www.youtube.com/watch?v=slowcook002',NULL,NULL,'[]',NULL,'video');
INSERT INTO "video" VALUES('slowcook009','UCslow','만두',NULL,NULL,NULL,'[]',NULL,'short');
CREATE TABLE video_summary (
             video_id TEXT PRIMARY KEY REFERENCES video (id) ON DELETE CASCADE,
             text TEXT NOT NULL, model TEXT NOT NULL, digest TEXT NOT NULL, prompt TEXT NOT NULL,
             transcript TEXT NOT NULL, tries INTEGER NOT NULL, settled INTEGER NOT NULL,
             prompt_tokens INTEGER NOT NULL, tokens INTEGER NOT NULL, ms INTEGER NOT NULL, written_at INTEGER NOT NULL
           ) STRICT, WITHOUT ROWID;
INSERT INTO "video_summary" VALUES('noodle00001','요약','m','d','p','t',1,1,1,1,1,1);
CREATE TABLE window (
             id TEXT PRIMARY KEY,
             video_id TEXT NOT NULL REFERENCES video (id) ON DELETE CASCADE,
             ordinal INTEGER NOT NULL, start_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL, text TEXT NOT NULL,
             lines TEXT NOT NULL, overlap_before TEXT NOT NULL, overlap_after TEXT NOT NULL, rule_hash TEXT NOT NULL,
             UNIQUE (video_id, ordinal)
           ) STRICT;
INSERT INTO "window" VALUES('5557fcef-adc5-5212-a16a-d979ccb855cb','noodle00001',0,0,45000,'오늘은 멸치 국물로 국수를 끓여요 국물이 끓으면 간장을 넣어요','[[0,0],[19,20000]]','','이제 만두를 빚어 봅시다','p1.w3.60-20-90.o12');
INSERT INTO "window" VALUES('d31b473a-e918-595f-85e6-f9f2d04809dd','noodle00001',1,50000,90000,'이제 만두를 빚어 봅시다','[[0,50000]]','','','p1.w3.60-20-90.o12');
CREATE INDEX video_channel ON video (channel_id);
CREATE INDEX stage_state ON stage (state, retry_at);
CREATE INDEX context_window ON context (window_id);
CREATE INDEX context_video ON context (video_id);
CREATE INDEX window_place ON window (id, video_id, ordinal);
CREATE INDEX overview_section_video ON overview_section (video_id);
CREATE INDEX context_term_window ON context_term (window_id);
CREATE INDEX level_video ON level (video_id, source);
COMMIT;
PRAGMA user_version = 17;
