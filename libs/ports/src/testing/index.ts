export { modelContract, type ModelUnderTest, type PlannedAnswer } from './model.contract.ts';
