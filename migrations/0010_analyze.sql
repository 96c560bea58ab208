-- Statistics of conversations change slowly, and counting them anew takes 0.4 s at a million. At a fiftieth, a busy
-- hour of messages had them counted every 15 seconds.
alter table conversations set (autovacuum_analyze_scale_factor = 0.1);
