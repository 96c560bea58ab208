-- Statistics of conversations change slowly, and counting them anew takes 0.4 s at a million. At a fiftieth, they were
-- counted in every round of autovacuum while messages came in.
alter table conversations set (autovacuum_analyze_scale_factor = 0.1);
